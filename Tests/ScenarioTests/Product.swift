import Glibc
import NetworkLab
import TestSupport

/// The `reachability` binary under test.
enum Product {
    /// REACHABILITY_BINARY, else the binary beside the running test bundle. `none` measures only packets.
    static let path: String =
        if let chosen = getenv("REACHABILITY_BINARY") {
            String(cString: chosen)
        } else {
            BuiltProgram.path("reachability")
        }

    static var isMeasured: Bool { path != "none" }

    /// Asks once, and returns the line and the exit status.
    static func ask(_ target: Target, in namespace: LabNamespace) throws -> (line: StatusLine, status: CInt) {
        let result = try namespace.run(path, ["status", "--json"] + [target.host].compactMap(\.self))
        let lines = result.output.split(separator: "\n")
        guard lines.count == 1 else {
            throw LabError("\(lines.count) lines and status \(result.status): \(result.output) \(result.errors)")
        }
        return (try StatusLine(parsing: lines[0]), result.status)
    }
}
