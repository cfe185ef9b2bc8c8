//! Neighbouring coordinates that every access walks as one become one: fewer loops, fewer distinct kernels.

use sx_artifact::kernel::{Affine, Body, Inst, Kernel, KernelKind, Store};

/// Collapses a kernel's coordinates. An attention's are few and fixed.
pub fn kernel(kernel: &mut Kernel) {
    match &mut kernel.kind {
        KernelKind::Loop(work) => {
            let mut users = [User { groups: vec![0, 1], body: &mut work.body, stores: &mut work.stores }];
            collapse(&mut [&mut work.dims, &mut work.along], &mut users);
        }
        KernelKind::Contraction(work) => {
            let mut users = [
                User { groups: vec![0, 1, 3], body: &mut work.lhs.body, stores: &mut [] },
                User { groups: vec![0, 3, 2], body: &mut work.rhs.body, stores: &mut [] },
                User { groups: vec![0, 1, 2], body: &mut work.epilogue, stores: &mut work.stores },
            ];
            collapse(&mut [&mut work.batch, &mut work.m, &mut work.n, &mut work.k], &mut users);
        }
        KernelKind::Attention(_) => {}
    }
}

/// Code over the coordinates of some groups, in that order.
struct User<'a> {
    groups: Vec<usize>,
    body: &'a mut Body,
    stores: &'a mut [Store],
}

impl User<'_> {
    fn each(&mut self, mut f: impl FnMut(&mut Affine)) {
        self.body.insts.iter_mut().filter_map(Inst::affine_mut).for_each(&mut f);
        self.stores.iter_mut().for_each(|store| f(&mut store.access.at));
    }
}

fn collapse(groups: &mut [&mut Vec<u64>], users: &mut [User<'_>]) {
    for group in 0..groups.len() {
        let mut at = 0;
        while at + 1 < groups[group].len() {
            let inner = groups[group][at + 1];
            let lengths: Vec<usize> = groups.iter().map(|sizes| sizes.len()).collect();
            let place = |user: &User<'_>| {
                let before = user.groups.iter().position(|&g| g == group)?;
                Some(user.groups[..before].iter().map(|&g| lengths[g]).sum::<usize>() + at)
            };
            let mut one = true;
            for user in users.iter_mut() {
                if let Some(place) = place(user) {
                    user.each(|a| one &= a.crosses_as_one(place, place + 1, inner));
                }
            }
            if one {
                for user in users.iter_mut() {
                    if let Some(place) = place(user) {
                        user.each(|a| {
                            a.strides.remove(place);
                        });
                    }
                }
                let outer = groups[group].remove(at);
                groups[group][at] = outer * inner;
            } else {
                at += 1;
            }
        }
    }
}
