//! Native half of System.Security.Principal: identities are user ids, roles are groups.
//!
//! Keeps nothing.
use crate::support::arrays::string_array;
use crate::support::errno::errno;
use crate::support::text::utf8_z;
use std::ffi::CString;
use vervet_runtime::{ObjRef, icalls};

/// Asks the user database; `ask` gets a record, a buffer and where to say that something was found.
fn user(
    ask: impl Fn(*mut libc::passwd, *mut libc::c_char, usize, *mut *mut libc::passwd) -> i32,
) -> Option<(String, u32, u32)> {
    let mut buffer = vec![0u8; 16384];
    // SAFETY: the record's strings lie in the buffer and are copied before it goes.
    unsafe {
        let mut record: libc::passwd = std::mem::zeroed();
        let mut found = std::ptr::null_mut();
        let r = ask(
            &mut record,
            buffer.as_mut_ptr().cast(),
            buffer.len(),
            &mut found,
        );
        (r == 0 && !found.is_null()).then(|| {
            (
                utf8_z(record.pw_name as *const u8),
                record.pw_uid,
                record.pw_gid,
            )
        })
    }
}
fn by_id(uid: u32) -> Option<(String, u32, u32)> {
    // SAFETY: the pointers are those `user` hands out.
    user(|r, b, n, f| unsafe { libc::getpwuid_r(uid, r, b, n, f) })
}
fn groups(uid: u32) -> Vec<u32> {
    let Some((name, _, gid)) = by_id(uid) else {
        return Vec::new();
    };
    let name = CString::new(name).unwrap_or_default();
    let mut n = 256;
    let mut ids = vec![0u32; n as usize];
    // SAFETY: there is room for `n` ids.
    if unsafe { libc::getgrouplist(name.as_ptr(), gid, ids.as_mut_ptr(), &mut n) } < 0 {
        return vec![gid];
    }
    ids.truncate(n.max(0) as usize);
    ids
}
fn group_name(gid: u32) -> Option<String> {
    let mut buffer = vec![0u8; 65536];
    // SAFETY: the record's strings lie in the buffer and are copied before it goes.
    unsafe {
        let mut record: libc::group = std::mem::zeroed();
        let mut found = std::ptr::null_mut();
        let r = libc::getgrgid_r(
            gid,
            &mut record,
            buffer.as_mut_ptr().cast(),
            buffer.len(),
            &mut found,
        );
        (r == 0 && !found.is_null()).then(|| utf8_z(record.gr_name as *const u8))
    }
}

icalls! {
    // SAFETY: `geteuid` cannot fail and touches no memory.
    "System.Security.Principal.WindowsIdentity::GetCurrentToken" fn get_current_token(cx) -> isize { Ok(unsafe { libc::geteuid() } as isize) }
    /// The name of the user whose id the token is; empty if the user database has none.
    "System.Security.Principal.WindowsIdentity::GetTokenName" fn get_token_name(cx, token: isize) -> ObjRef<'cx> {
        let name = by_id(token as u32).map(|u| u.0);
        cx.alloc_str(name.as_deref().unwrap_or(""))
    }
    /// -1 for an unknown user.
    "System.Security.Principal.WindowsIdentity::GetUserToken" fn get_user_token(cx, name: ObjRef<'cx>) -> isize {
        let name = CString::new(name.text()).unwrap_or_default();
        // SAFETY: the pointers are those `user` hands out.
        Ok(user(|r, b, n, f| unsafe { libc::getpwnam_r(name.as_ptr(), r, b, n, f) }).map_or(-1, |u| u.1 as isize))
    }
    /// The names of the groups of a user.
    "System.Security.Principal.WindowsIdentity::_GetRoles" fn get_roles(cx, token: isize) -> ObjRef<'cx> {
        let names: Vec<String> = groups(token as u32).into_iter().filter_map(group_name).collect();
        string_array(cx, &names)
    }

    /// A token is a user id, so nothing is held.
    "System.Security.Principal.WindowsImpersonationContext::CloseToken" fn close_token(cx, token: isize) -> bool { Ok(true) }
    /// A token is a user id, so its copy is itself.
    "System.Security.Principal.WindowsImpersonationContext::DuplicateToken" fn duplicate_token(cx, token: isize) -> isize { Ok(token) }
    /// Sets the effective user id of the process.
    "System.Security.Principal.WindowsImpersonationContext::SetCurrentToken" fn set_current_token(cx, token: isize) -> bool {
        // SAFETY: `seteuid` takes a number and touches no memory of this process.
        Ok(unsafe { libc::seteuid(token as u32) } == 0)
    }
    /// Sets the effective user id back to the real one.
    "System.Security.Principal.WindowsImpersonationContext::RevertToSelf" fn revert_to_self(cx) -> bool {
        // SAFETY: `getresuid` fills three numbers of this frame; `seteuid` takes a number.
        unsafe {
            let (mut real, mut effective, mut saved) = (0, 0, 0);
            if libc::getresuid(&mut real, &mut effective, &mut saved) < 0 {
                return Ok(false);
            }
            Ok(libc::seteuid(saved) == 0 || errno() == 0)
        }
    }

    /// Is the user in the group?
    "System.Security.Principal.WindowsPrincipal::IsMemberOfGroupId" fn is_member_of_group_id(cx, user: isize, group: isize) -> bool { Ok(groups(user as u32).contains(&(group as u32))) }
    /// `group` is a NUL-terminated UTF-8 name.
    "System.Security.Principal.WindowsPrincipal::IsMemberOfGroupName" fn is_member_of_group_name(cx, user: isize, group: *const u8) -> bool {
        if group.is_null() {
            return Ok(false);
        }
        // SAFETY: managed code passes a NUL-terminated string.
        let wanted = unsafe { utf8_z(group) };
        Ok(groups(user as u32).into_iter().filter_map(group_name).any(|n| n == wanted))
    }
}
