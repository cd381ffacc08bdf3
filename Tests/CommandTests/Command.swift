import Glibc
import NetworkLab
import TestSupport

/// The `reachability` binary under test: REACHABILITY_BINARY, else the one beside the running test bundle.
enum Command {
    static let path: String = {
        if let chosen = getenv("REACHABILITY_BINARY") { return String(cString: chosen) }
        return BuiltProgram.path("reachability")
    }()

    /// Neither how wide a terminal is nor whom this machine trusts: in debug builds reading its roots takes long.
    private static let base = ["-u", "COLUMNS", "-u", "NO_COLOR", "-u", "SSL_CERT_DIR", "SSL_CERT_FILE=/dev/null"]

    /// Starts the binary in the calling thread's namespace, under an environment that does not depend on ours.
    static func start(_ arguments: [String], environment: [String] = []) throws -> LabProcess {
        try LabProcess("env", base + environment + [path] + arguments)
    }

    /// Runs a shell script in which `$R` is the binary.
    static func shell(_ script: String, _ arguments: [String] = []) throws -> LabProcess {
        try LabProcess("env", base + ["R=\(path)", "sh", "-c", script, "sh"] + arguments)
    }

    /// Runs the binary to its end, in a namespace if one is given.
    static func run(_ arguments: [String], in namespace: LabNamespace? = nil) async throws -> CommandResult {
        try await perform(in: namespace) { try start(arguments) }
    }

    /// Runs a shell script to its end, in a namespace if one is given.
    static func run(script: String, in namespace: LabNamespace? = nil) async throws -> CommandResult {
        try await perform(in: namespace) { try shell(script) }
    }

    private static func perform(
        in namespace: LabNamespace?,
        _ start: @escaping @Sendable () throws -> LabProcess
    ) async throws -> CommandResult {
        try await LabNamespace.perform(in: namespace) {
            let result = try start().wait()
            return CommandResult(status: result.status, output: result.output, errors: result.errors)
        }
    }
}
