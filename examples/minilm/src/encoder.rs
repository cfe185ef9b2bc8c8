//! Sentences to vectors: the tokenizer in front, the compiled encoder behind it.

use std::error::Error;
use std::path::Path;
use sx_runtime::{Data, Model, Session, Tensor, device};
use tokenizers::{Encoding, PaddingParams, PaddingStrategy, Tokenizer, TruncationParams};

/// A sentence encoder on a device.
pub(crate) struct Encoder {
    session: Session,
    tokenizer: Tokenizer,
    device: String,
    /// How many sentences a call takes.
    batch: usize,
    /// How many tokens a sentence has.
    tokens: usize,
}

impl Encoder {
    /// Opens the artifact on the device of that name. The sizes it was built for are the ones a call has.
    pub(crate) fn open(artifact: &Path, tokenizer: &Path, device: &str) -> Result<Encoder, Box<dyn Error>> {
        let model = Model::open(artifact)?;
        let selected = device::select(device, model.targets())?;
        let session = Session::new(&model, "embed", &*selected.device)?;
        let ids = session.inputs().iter().find(|port| port.name == "ids");
        let Some(&[batch, tokens]) = ids.map(|port| port.shape.as_slice()) else {
            return Err("the graph `embed` of this artifact has no input `ids` of two axes".into());
        };
        let (batch, tokens) = (usize::try_from(batch)?, usize::try_from(tokens)?);
        let tokenizer = open_tokenizer(tokenizer, tokens)?;
        Ok(Encoder { session, tokenizer, device: selected.target.to_string(), batch, tokens })
    }

    /// The target that the device is of.
    pub(crate) fn device(&self) -> &str {
        &self.device
    }

    /// A vector of length 1 for each sentence.
    pub(crate) fn embed(&mut self, sentences: &[&str]) -> Result<Vec<Vec<f32>>, Box<dyn Error>> {
        let mut vectors = Vec::with_capacity(sentences.len());
        for sentences in sentences.chunks(self.batch) {
            // A last, smaller batch is filled up with empty sentences.
            let mut batch = sentences.to_vec();
            batch.resize(self.batch, "");
            let encodings = self.tokenizer.encode_batch(batch, true).map_err(|error| error.to_string())?;
            let ids = self.tensor(&encodings, Encoding::get_ids)?;
            let mask = self.tensor(&encodings, Encoding::get_attention_mask)?;
            let outputs = self.session.run(&[("ids", ids), ("mask", mask)])?;
            let Data::F32(values) = outputs["out"].data() else {
                return Err("the graph `embed` of this artifact does not give f32".into());
            };
            let rows = values.chunks(values.len() / self.batch);
            vectors.extend(rows.take(sentences.len()).map(<[f32]>::to_vec));
        }
        Ok(vectors)
    }

    /// What the encodings hold, as one tensor.
    fn tensor(
        &self,
        encodings: &[Encoding],
        part: fn(&Encoding) -> &[u32],
    ) -> Result<Tensor, Box<dyn Error>> {
        let values: Result<Vec<i32>, _> = encodings
            .iter()
            .flat_map(|encoding| part(encoding).iter().map(|&id| i32::try_from(id)))
            .collect();
        Ok(Tensor::new(&[self.batch as u64, self.tokens as u64], values?.into()))
    }
}

/// A tokenizer that gives exactly so many tokens a sentence.
fn open_tokenizer(path: &Path, tokens: usize) -> Result<Tokenizer, Box<dyn Error>> {
    let refused = |error: tokenizers::Error| format!("{} is no tokenizer: {error}", path.display());
    let mut tokenizer = Tokenizer::from_file(path).map_err(refused)?;
    tokenizer.with_padding(Some(PaddingParams {
        strategy: PaddingStrategy::Fixed(tokens),
        ..PaddingParams::default()
    }));
    tokenizer
        .with_truncation(Some(TruncationParams { max_length: tokens, ..TruncationParams::default() }))
        .map_err(refused)?;
    Ok(tokenizer)
}
