//! Groups of nodes as loops: from a graph to the kernels of a program.
//!
//! [`group`] decides which values are stored, by what [`analysis`] knows (costs, what many kernels need, where to
//! cut); every other value is computed inside the kernels that need it.
//! [`lower`] turns one stored value, its *root*, into a kernel by walking down from it: each operand is
//! evaluated at an [`index::Idx`], affine in the loop coordinates, so that movement (broadcast, transpose,
//! slice, reshape) costs nothing and never becomes a node of the kernel. What a kernel means is [`sx_artifact::kernel::interpret`].

pub mod analysis;
pub mod attention;
pub mod body;
pub mod collapse;
pub mod finish;
pub mod group;
pub mod index;
pub mod lower;
