package import LinuxSupport

/// A process that changed the network, and runs on.
package struct ActingProcess: Hashable, Sendable {
    /// Its number, as this service sees it.
    package let id: Int32
    /// The name of its program, at most 15 bytes, which it can choose: `proc_pid_comm(5)`.
    package let program: String
    /// The unit of systemd that it belongs to; nil where there is none.
    package let unit: String?

    package init(id: Int32, program: String, unit: String?) {
        (self.id, self.program, self.unit) = (id, program, unit)
    }
}

extension ActingProcess {
    /// As the interface and notifications have it.
    package var object: JSONObject {
        var object = JSONObject()
        object.add("pid", id)
        object.add("program", program)
        object.add("unit", unit)
        return object
    }

    /// For example `openvpn, pid 812, of openvpn@site.service`. A program chooses its name, so what would steer a terminal is escaped.
    package var text: String { "\(program.printable), pid \(id)\(unit.map { ", of \($0.printable)" } ?? "")" }
}

extension ActingProcess {
    /// The unit that a control group belongs to: the innermost one whose name is a unit's.
    ///
    /// - Parameter groups: The text of `/proc/PID/cgroup`, `cgroups(7)`.
    static func unit(inGroups groups: String) -> String? {
        let line = groups.split(at: "\n").first { $0.hasPrefix("0::/") && $0 != "0::/" }
        let named = line ?? groups.split(at: "\n").first { $0.contains(":name=systemd:") }
        guard let path = named?.split(at: ":", maxSplits: 2, omittingEmptySubsequences: false).last else {
            return nil
        }
        return path.split(at: "/").last { $0.hasSuffix(".service") || $0.hasSuffix(".scope") }.map(String.init)
    }
}
