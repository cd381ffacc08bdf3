import Glibc
import NetworkLab
import TestSupport

/// The program to be killed, beside the running test bundle.
enum Victim {
    static let path = BuiltProgram.path("OutboxVictim")

    /// Runs it, kills it so long after its first line if at all, and returns the keys it has written: those are on the disk.
    static func run(_ file: ScratchFile, port: UInt16, keys: [String], killAfter: Duration?) throws -> Set<String> {
        let input = keys.map { $0 + "\n" }.joined()
        let process = try LabProcess(path, [file.path, "\(port)"], input: input)
        if let killAfter {
            // Until then it has only begun, which a kill cannot hurt.
            var poll = pollfd(fd: process.outputDescriptor.number, events: Int16(POLLIN), revents: 0)
            _ = Glibc.poll(&poll, 1, 30_000)
            // The moment is what is tested: nothing is waited for.
            usleep(UInt32(killAfter / .microseconds(1)))
            kill(process.identifier, SIGKILL)
        }
        let result = try process.wait(within: .seconds(300))
        let expected: Set<CInt> = killAfter == nil ? [0] : [0, -SIGKILL]
        guard expected.contains(result.status) else { throw LabError("\(result.status): \(result.errors)") }
        let complete = result.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        return Set(complete.map(String.init))
    }
}
