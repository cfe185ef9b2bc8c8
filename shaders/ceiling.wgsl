// What `sxrun bench` asks of a GPU to know how fast it multiplies and adds: no memory but one word in and out.

struct SxRecord { zero: u32, launch: u32 }

@group(0) @binding(0) var<uniform> sx: SxRecord;
@group(0) @binding(1) var<storage, read> a0: array<f32, 262144>;
@group(0) @binding(2) var<storage, read_write> a1: array<f32, 262144>;

@compute @workgroup_size(64)
fn sx_run(@builtin(global_invocation_id) id: vec3<u32>) {
    let x = vec4<f32>(a0[id.x]);
    let y = vec4<f32>(0.25, 0.5, 0.75, 0.125);
    var p = x;
    var q = x + y;
    var r = x - y;
    var s = x * y;
    for (var i = 0u; i < (128u ^ sx.zero); i += 1u) {
        p = p * x + y;
        q = q * x + y;
        r = r * x + y;
        s = s * x + y;
    }
    let sum = p + q + r + s;
    a1[id.x] = sum.x + sum.y + sum.z + sum.w;
}
