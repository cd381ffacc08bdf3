import Foundation
import NetworkLab
import Testing

@testable import LinuxPrimitives
@testable import Netlink

/// What `/proc` tells of real processes.
@Suite struct ProcessActivityTests {
    private static func activity(of process: LabProcess) -> ProcessActivity {
        .ofProcess(withPort: UInt32(process.identifier))
    }

    /// Starting takes its time.
    private static func expect(_ activity: ProcessActivity, of process: LabProcess, _ text: Comment? = nil) {
        let isReached = Deadline(after: .seconds(30)).poll(every: .milliseconds(2)) {
            self.activity(of: process) == activity
        }
        #expect(isReached, text)
    }

    @Test func `the thread that asks runs`() async throws {
        try await LabThread.detached {
            let path = try #require(realpath("/proc/thread-self", nil))
            defer { free(path) }
            let thread = String(cString: path).split(separator: "/").last.flatMap { UInt32($0) }
            guard let file = ProcessRecord.open(process: UInt32(getpid()), thread: thread) else {
                Issue.record("the calling thread has no file")
                return
            }
            let record = ProcessRecord(file: file)
            #expect(record?.isRunning ?? false)
            // With very many threads it is not looked at.
            #expect(ProcessActivity.ofProcess(withPort: UInt32(getpid())) != .atRest)
        }
    }

    @Test func `a process that is busy, stopped, over and asleep`() async throws {
        try await LabThread.detached {
            let process = try LabProcess("sh", ["-c", "while :; do :; done"])
            Self.expect(.atWork, of: process)
            // libnl numbers the sockets of a process in the upper bits.
            let further = UInt32(process.identifier) | 3 << 22
            #expect(Deadline(after: .seconds(30)).poll { ProcessActivity.ofProcess(withPort: further) == .atWork })
            process.signal(SIGSTOP)
            Self.expect(.atRest, of: process)
            process.signal(SIGCONT)
            Self.expect(.atWork, of: process)
            process.signal(SIGKILL)
            _ = try process.wait()
            #expect(Self.activity(of: process) == .atRest)
            Self.expect(.atRest, of: try LabProcess("sleep", ["1000"]))
        }
    }

    @Test func `a process nobody has waited for is over`() async throws {
        try await LabThread.detached {
            let process = try LabProcess("true", [])
            var information = siginfo_t()
            #expect(waitid(P_PID, id_t(process.identifier), &information, WEXITED | WNOWAIT) == 0)
            #expect(Self.activity(of: process) == .atRest)
        }
    }

    /// The first thread of a program may end before the others.
    @Test(.enabled(if: access("/usr/bin/python3", X_OK) == 0))
    func `a busy thread whose first thread has ended`() async throws {
        try await LabThread.detached {
            let script = """
                import ctypes, threading
                def work():
                    print("works", flush=True)
                    while True: pass
                threading.Thread(target=work).start()
                ctypes.CDLL(None).pthread_exit(0)
                """
            let process = try LabProcess("/usr/bin/python3", ["-c", script])
            #expect(Deadline(after: .seconds(30)).poll { !process.drain().isEmpty })
            let isOver = try Deadline(after: .seconds(30)).poll {
                try LabProcess("cat", ["/proc/\(process.identifier)/stat"]).wait().output.contains(") Z ")
            }
            #expect(isOver)
            Self.expect(.atWork, of: process)
        }
    }

    @Test func `one watch follows a process, and another after it`() async throws {
        try await LabThread.detached {
            var watch = ProcessWatch()
            let deadline = Deadline(after: .seconds(30))
            let first = try LabProcess("sh", ["-c", "while :; do :; done"])
            let port = UInt32(first.identifier)
            for _ in 0..<3 {
                first.signal(SIGCONT)
                #expect(deadline.poll { watch.activity(ofPort: port) == .atWork })
                first.signal(SIGSTOP)
                #expect(deadline.poll { watch.activity(ofPort: port) == .atRest })
            }
            #expect(Self.openFiles(of: first) == 1)
            let second = try LabProcess("sh", ["-c", "while :; do :; done"])
            #expect(deadline.poll { watch.activity(ofPort: UInt32(second.identifier)) == .atWork })
            #expect(Self.openFiles(of: first) == 0)
            #expect(watch.activity(ofPort: port) == .atRest)
            first.signal(SIGKILL)
            _ = try first.wait()
            for _ in 0..<2 { #expect(watch.activity(ofPort: port) == .atRest) }
            #expect(deadline.poll { watch.activity(ofPort: UInt32(second.identifier)) == .atWork })
            #expect(Self.openFiles(of: second) == 1)
            watch = ProcessWatch()
            #expect(Self.openFiles(of: second) == 0)
        }
    }

    /// How often this process has opened what `/proc` tells of another.
    private static func openFiles(of process: LabProcess) -> Int {
        let directory = "/proc/self/fd/"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.count {
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: directory + $0)
            return target == "/proc/\(process.identifier)/stat"
        }
    }

    @Test func `ports that are no process's`() {
        for port: UInt32 in [0, 1 << 22, UInt32(bitPattern: -1), UInt32(bitPattern: -4242), 1 << 31] {
            #expect(ProcessActivity.ofProcess(withPort: port) == .unknown)
        }
    }

    @Test func `a number without a process is at rest`() throws {
        // The largest there can be, which is given last.
        let number: UInt32 = 0x3f_ffff
        try #require(kill(pid_t(number), 0) != 0 && errno == ESRCH)
        #expect(ProcessActivity.ofProcess(withPort: number) == .atRest)
    }
}
