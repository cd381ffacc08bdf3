import Glibc
import LinuxSupport

/// Where programs of ours keep what must outlive them.
package enum StateDirectory {
    /// The directory that systemd has made for the service (`STATE_DIRECTORY` of `systemd.exec(5)`), else `/var/lib/reachability` for root,
    /// and `$XDG_STATE_HOME/reachability` for others, which is in `~/.local/state` unless the variable says otherwise (XDG Base
    /// Directory Specification). It is made, of mode 0700; whether it could be shows when something is written to it. Nil without a home.
    package static func make() -> String? {
        if let made = EnvironmentVariable.value(of: "STATE_DIRECTORY")?.split(at: ":").first, made.hasPrefix("/") {
            return String(made)
        }
        let base: String
        if geteuid() == 0 {
            base = "/var/lib"
        } else if let state = EnvironmentVariable.value(of: "XDG_STATE_HOME"), state.hasPrefix("/") {
            base = state
        } else if let home = EnvironmentVariable.value(of: "HOME"), home.hasPrefix("/") {
            base = home + "/.local/state"
        } else {
            return nil
        }
        try? OwnDirectory.make(base + "/reachability", mode: 0o700)
        return base + "/reachability"
    }
}
