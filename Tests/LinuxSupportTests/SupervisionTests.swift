import Glibc
import NetworkLab
import Testing

@testable import LinuxSupport

/// The offers of a service manager, and notifications to it.
@Suite struct SupervisionTests {
    private func offer(_ variables: [String: String]) -> ServiceManagerOffer {
        ServiceManagerOffer(process: 7) { variables[$0] }
    }

    @Test func `without a service manager there is no notify socket, no watchdog and no passed socket`() {
        #expect(offer([:]).notify == nil)
        #expect(offer([:]).watchdog == nil)
        #expect(offer([:]).descriptors == [])
    }

    @Test func `the watchdog timeout of this process is read`() {
        #expect(offer(["WATCHDOG_USEC": "2000000"]).watchdog == .seconds(2))
        #expect(offer(["WATCHDOG_USEC": "2000000", "WATCHDOG_PID": "7"]).watchdog == .seconds(2))
        for text in ["0", "-1", "", "x", "99999999999999999999"] {
            #expect(offer(["WATCHDOG_USEC": text]).watchdog == nil)
        }
        for process in ["8", "", "x"] {
            #expect(offer(["WATCHDOG_USEC": "2000000", "WATCHDOG_PID": process]).watchdog == nil)
        }
    }

    @Test func `the inherited sockets of this process have the names of the unit`() {
        let two = offer(["LISTEN_PID": "7", "LISTEN_FDS": "2", "LISTEN_FDNAMES": "api:unknown"]).descriptors
        #expect(two == [.init(number: 3, name: "api"), .init(number: 4, name: "")])
        #expect(offer(["LISTEN_PID": "7", "LISTEN_FDS": "1"]).descriptors == [.init(number: 3, name: "")])
        for (process, count) in [("8", "1"), ("7", "0"), ("7", "-1"), ("7", "1025"), ("7", "x"), ("", "1")] {
            #expect(offer(["LISTEN_PID": process, "LISTEN_FDS": count]).descriptors == [])
        }
        #expect(offer(["LISTEN_FDS": "1"]).descriptors == [])
    }

    @Test func `a notification address is a path or an abstract name`() {
        let longest = "/" + String(repeating: "x", count: LocalSocket.longestPath - 1)
        for place in ["/run/notify", "@notify", longest] { #expect(NotifySocket(place)?.address == place) }
        for place in ["", "/", "@", "notify", "vsock:2:1", longest + "x", "/a\0b"] {
            #expect(NotifySocket(place) == nil)
        }
    }

    @Test(arguments: ["/tmp/notify", "@notify"]) func `texts arrive complete in order`(place: String) async throws {
        let place = "\(place)-\(getpid())-\(UInt64.random(in: 0 ... .max))"
        defer { unlink(place) }
        let texts = try await LabThread.detached {
            let receiver = try DatagramReceiver(at: place)
            let socket = try #require(NotifySocket(place))
            try socket.send("RELOADING=1\nMONOTONIC_USEC=5")
            try socket.send("READY=1")
            return receiver.texts(to: "READY")
        }
        #expect(texts == ["RELOADING=1\nMONOTONIC_USEC=5", "READY=1"])
    }

    @Test func `a missing receiver and a text that is too long are errors`() throws {
        let socket = try #require(NotifySocket("/nowhere/notify"))
        #expect(throws: SystemError.noEntry) { try socket.send("READY=1") }
        #expect(throws: SystemError.messageTooLong) { try socket.send(String(repeating: "x", count: 4097)) }
    }

    @Test func `sending to a manager that does not read times out`() throws {
        let receiver = try DatagramReceiver(at: "@notify-\(getpid())-\(UInt64.random(in: 0 ... .max))")
        let socket = try #require(NotifySocket(receiver.place))
        #expect(throws: SystemError.tryAgain) {
            for _ in 0..<100_000 { try socket.send("WATCHDOG=1", patience: 0) }
        }
        _ = receiver.next()
        try socket.send("WATCHDOG=1")
    }

    @Test func `only a listening stream socket is accepted`() throws {
        let datagram = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0)
        let deaf = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let file = open("/dev/null", O_RDONLY)
        let hearing = socket(AF_INET6, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { for number in [datagram, deaf, file, hearing] { close(number) } }
        #expect(throws: SystemError.invalidArgument) { try ListeningSocket(datagram) }
        #expect(throws: SystemError.invalidArgument) { try ListeningSocket(deaf) }
        #expect(throws: SystemError(rawValue: ENOTSOCK)) { try ListeningSocket(file) }
        #expect(throws: SystemError(rawValue: EBADF)) { try ListeningSocket(-1) }
        // Without an address the system chooses one, with a port.
        #expect(listen(hearing, 1) == 0)
        guard case .internet(let address, let port) = try ListeningSocket(hearing).place else {
            Issue.record("no TCP")
            return
        }
        #expect(address.isUnspecified && address.family == .ipv6 && port != 0)
        #expect(fcntl(hearing, F_GETFD) == FD_CLOEXEC)
    }

    @Test func `the start time of a process is read`() throws {
        let start = try #require(ProcessStart.boot)
        #expect(start < SystemClock.boot && start > .zero)
        let rest = (4...21).map(String.init).joined(separator: " ")
        #expect(ProcessStart.boot(text: "1 (a) b) S) R \(rest) 12345 0 0\n", ticks: 100) == .milliseconds(123_450))
        for text in ["", "1 (a) R", "1 (a) R \(rest) x", "1 (a) R \(rest) -1"] {
            #expect(ProcessStart.boot(text: text, ticks: 100) == nil)
        }
    }

    @Test func `the number of a group is found by its name`() {
        #expect(UserGroup.number(of: "root") == 0)
        #expect(UserGroup.number(of: "no such group") == nil)
    }
}
