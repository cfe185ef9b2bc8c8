//! An artifact that is ready to be run: opened, with its weights.

use crate::device::{Contents, SharedBytes};
use crate::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use sx_artifact::code::Target;
use sx_artifact::manifest::{self, Graph};
use sx_artifact::program::{Program, Resource, Role};
use sx_artifact::read::Artifact;
use sx_artifact::write::weights_path;
use sx_files::artifact;

/// An open artifact. Cheap to open and to clone: weights are mapped, and checked when they are first used.
#[derive(Clone)]
pub struct Model {
    artifact: Arc<Artifact>,
}

impl Model {
    /// Opens the artifact at `path`. If its weights are in a file of their own, that is `FILE.weights`.
    pub fn open(path: impl AsRef<Path>) -> Result<Model, Error> {
        Model::open_with_weights(path, None)
    }

    /// Opens the artifact at `path` with its weights from `weights`, or `FILE.weights` beside it, if it does
    /// not hold them itself.
    pub fn open_with_weights(path: impl AsRef<Path>, weights: Option<&Path>) -> Result<Model, Error> {
        let path = path.as_ref();
        let mut artifact = artifact::open(path)?;
        let beside = || Some(weights_path(path)).filter(|beside: &PathBuf| beside.exists());
        let weights = match (weights, artifact.manifest().weights) {
            (Some(weights), _) => Some(weights.to_owned()),
            (None, Some(_)) => beside(),
            (None, None) => None,
        };
        if let Some(weights) = weights {
            let opened = artifact::open(&weights).map_err(|error| match error {
                artifact::Error::Artifact(error) => Error::Artifact(error.of_weights(Some(&weights))),
                error => error.into(),
            })?;
            artifact.attach_weights(opened)?;
        }
        Ok(Model { artifact: Arc::new(artifact) })
    }

    /// An artifact in memory, such as one embedded in a program.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Model, Error> {
        Ok(Model { artifact: Arc::new(artifact::from_bytes(Arc::new(bytes))?) })
    }

    /// The graphs it has, in the order of the source.
    pub fn graphs(&self) -> &[Graph] {
        &self.artifact.manifest().graphs
    }

    /// The targets it has code for.
    pub fn targets(&self) -> &[Target] {
        &self.artifact.manifest().targets
    }

    /// The graph called `name`; without a name, the only one there is.
    pub fn graph(&self, name: Option<&str>) -> Result<&Graph, Error> {
        let named = |name: &str| self.graphs().iter().find(|graph| graph.name == name);
        match (name, self.graphs()) {
            (None, [only]) => Ok(only),
            (None, graphs) if graphs.len() > 1 => {
                Err(Error::WhichGraph { has: graphs.iter().map(|graph| graph.name.clone()).collect() })
            }
            // Asking for a graph that is not there says which are.
            (name, _) => match name.and_then(named) {
                Some(graph) => Ok(graph),
                None => Err(self
                    .artifact
                    .program(name.unwrap_or_default())
                    .err()
                    .map_or_else(|| Error::WhichGraph { has: Vec::new() }, Error::Artifact)),
            },
        }
    }

    /// The artifact itself: manifest, entries, digests.
    pub fn artifact(&self) -> &Artifact {
        &self.artifact
    }

    /// Checks every digest and every program.
    pub fn verify(&self) -> Result<(), Error> {
        Ok(self.artifact.verify()?)
    }

    /// Checks the digests of what `program` needs of the artifact, on all cores.
    pub(crate) fn verify_for(&self, program: &Program) -> Result<(), Error> {
        let constants = entries(program, &Role::Constant, manifest::constant_entry);
        self.artifact.verify_entries(&constants)?;
        let params = entries(program, &Role::Param, manifest::param_entry);
        let Some(first) = program.resources.iter().find(|resource| resource.role == Role::Param) else {
            return Ok(());
        };
        let (_, file) = self.artifact.param_file(&first.name)?;
        Ok(file.verify_entries(&params).map_err(|error| self.placed(error, file))?)
    }

    /// An error of `file`, which holds the parameters: named where it is not the artifact itself.
    fn placed(&self, error: sx_artifact::error::Error, file: &Artifact) -> sx_artifact::error::Error {
        if self.artifact.manifest().weights.is_some() { error.of_weights(file.path()) } else { error }
    }
}

/// The entries of the resources with this role.
fn entries(program: &Program, role: &Role, entry: fn(&str) -> String) -> Vec<String> {
    let named = program.resources.iter().filter(|resource| resource.role == *role);
    named.map(|resource| entry(&resource.name)).collect()
}

fn shared(artifact: &Artifact, entry: &str) -> Result<SharedBytes, Error> {
    let range = artifact.entry_range(entry)?;
    Ok(SharedBytes::new(artifact.owner().clone(), range.start, range.end))
}

impl Contents for Model {
    fn bytes_of(&self, resource: &Resource) -> Result<SharedBytes, Error> {
        let (owner, range) = self.artifact.stored(resource)?;
        Ok(SharedBytes::new(owner, range.start, range.end))
    }

    fn entry(&self, name: &str) -> Result<SharedBytes, Error> {
        shared(&self.artifact, name)
    }

    fn id(&self) -> [u8; 32] {
        self.artifact.id().0
    }
}
