import Glibc

extension LabNamespace {
    /// Starts a program inside the namespace.
    package func start(_ program: String, _ arguments: [String], input: String = "") throws -> LabProcess {
        try perform { try LabProcess(program, arguments, input: input) }
    }

    /// Runs a program inside the namespace to its end. Blocks.
    package func run(_ program: String, _ arguments: [String], input: String = "") throws -> LabProcess.Result {
        try start(program, arguments, input: input).wait()
    }

    /// Runs `ip` commands, one after the other in as few processes as possible. Blocks. A command may begin with
    /// `-4` or `-6`.
    package func ip(_ commands: [String]) throws {
        var rest = commands[...]
        while let first = rest.first {
            let family = LabNamespace.family(first)
            let batch = rest.prefix { LabNamespace.family($0) == family }
            rest = rest.dropFirst(batch.count)
            let lines = batch.map { $0.hasPrefix("-") ? $0.dropFirst(3) : $0[...] }.joined(separator: "\n")
            let result = try run("ip", (family.map { [$0] } ?? []) + ["-batch", "-"], input: lines + "\n")
            guard result.status == 0 else {
                throw LabError("ip \(batch.joined(separator: "; ").prefix(300)): \(result.errors)")
            }
        }
    }

    /// Runs `ip` commands, one after the other in as few processes as possible. Blocks.
    package func ip(_ commands: String...) throws {
        try ip(commands)
    }

    /// Sets a kernel parameter of the namespace: `sysctl("net.ipv4.ip_forward", "1")`.
    package func sysctl(_ name: String, _ value: String) throws {
        let path = "/proc/sys/" + name.split(separator: ".").joined(separator: "/")
        try perform {
            let file = LabDescriptor(try check("open \(path)", open(path, O_WRONLY | O_CLOEXEC)))
            guard write(file.number, value, value.utf8.count) == value.utf8.count else {
                throw LabError.system("write \(path)")
            }
        }
    }

    private static func family(_ command: String) -> String? {
        ["-4", "-6"].first { command.hasPrefix($0 + " ") }
    }
}
