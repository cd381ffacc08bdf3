import CNetworkLab
import Glibc

/// A child process whose output is collected. It may be used by one thread at a time. Functions block only if
/// documented.
package final class LabProcess {
    /// The result of a process that has ended.
    package struct Result {
        /// The exit status, or the negative number of the signal that ended the process.
        package let status: CInt
        package let output: String
        package let errors: String
    }

    package let identifier: Int32
    /// The descriptor that is readable when the process has written data.
    package let outputDescriptor: LabDescriptor
    private let errorDescriptor: LabDescriptor
    private let processDescriptor: LabDescriptor
    private var output: [UInt8] = []
    /// The text of standard error that `drain()` has collected so far.
    package private(set) var errors: [UInt8] = []
    private var status: CInt?

    /// Starts a program in the namespace of the calling thread. A name without a slash is searched for in PATH.
    package init(_ program: String, _ arguments: [String], input: String = "") throws {
        let (outputReader, outputWriter) = try LabProcess.pipe()
        let (errorReader, errorWriter) = try LabProcess.pipe()
        let inputFile = LabDescriptor(
            try check("memfd_create", Array(input.utf8).withUnsafeBytes { lab_memory_file($0.baseAddress, $0.count) })
        )

        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, inputFile.number, 0)
        posix_spawn_file_actions_adddup2(&actions, outputWriter.number, 1)
        posix_spawn_file_actions_adddup2(&actions, errorWriter.number, 2)

        // Dispatch's threads block signals, and child processes inherit this.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        var pointers = ([program] + arguments).map { strdup($0) } + [nil]
        defer { pointers.forEach { free($0) } }
        var identifier = pid_t()
        let code = posix_spawnp(&identifier, program, &actions, &attributes, &pointers, environ)
        guard code == 0 else { throw LabError.system("posix_spawn \(program)", code) }

        self.identifier = identifier
        outputDescriptor = outputReader
        errorDescriptor = errorReader
        processDescriptor = LabDescriptor(lab_process_descriptor(identifier))
    }

    /// Collects the data written so far, and returns all output.
    package func drain() -> [UInt8] {
        LabProcess.read(outputDescriptor.number, into: &output)
        LabProcess.read(errorDescriptor.number, into: &errors)
        return output
    }

    package func signal(_ number: CInt) {
        if status == nil {
            kill(identifier, number)
        }
    }

    /// Waits until the process has ended. Kills it if it does not end in time. Blocks the thread.
    package func wait(within limit: Duration = .patience) throws -> Result {
        let deadline = Deadline(after: limit)
        while status == nil {
            var events = [processDescriptor.number, outputDescriptor.number, errorDescriptor.number]
                .map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            _ = poll(&events, 1, min(deadline.milliseconds, 20))
            _ = drain()
            if events[0].revents != 0 {
                reap()
            } else if deadline.hasPassed {
                kill(identifier, SIGKILL)
                reap()
            }
        }
        return Result(
            status: status ?? -1,
            output: String(decoding: drain(), as: UTF8.self),
            errors: String(decoding: errors, as: UTF8.self)
        )
    }

    deinit {
        guard status == nil else { return }
        kill(identifier, SIGKILL)
        reap()
    }

    private func reap() {
        var code: CInt = 0
        while waitpid(identifier, &code, 0) < 0 && errno == EINTR {}
        let signal = code & 0x7f
        status = signal == 0 ? (code >> 8) & 0xff : -signal
    }

    private static func pipe() throws -> (reader: LabDescriptor, writer: LabDescriptor) {
        var ends: [CInt] = [-1, -1]
        try check("pipe2", lab_pipe(&ends))
        _ = lab_set_nonblocking(ends[0])
        return (LabDescriptor(ends[0]), LabDescriptor(ends[1]))
    }

    private static func read(_ descriptor: CInt, into bytes: inout [UInt8]) {
        var chunk = [UInt8](repeating: 0, count: 16384)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            guard count > 0 else { return }
            bytes += chunk[..<count]
        }
    }
}
