import Glibc
import NetworkLab
import TestSupport
import Testing

@testable import LinuxSupport

/// Sockets on the loopback device of a new namespace.
@Suite(.enabled(if: getuid() == 0))
struct NetworkSocketTests {
    /// Runs a function inside a namespace whose loopback device is up.
    private func inside<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await LabThread.detached {
            let namespace = try LabNamespace()
            defer { namespace.close() }
            try namespace.ip("link set lo up")
            return try namespace.perform(body)
        }
    }

    @Test func `a removed socket is not reported while another process has a copy of it`() throws {
        let poller = try Poller()
        let socket = try NetworkSocket.open(.udp, .ipv4)
        try poller.add(socket, .writable, token: 7)
        let copy = dup(socket.descriptor.number)
        defer { close(copy) }
        #expect(poller.wait(atMost: .seconds(10)).map(\.token) == [7])
        poller.remove(socket)
        _ = consume socket
        #expect(poller.wait(atMost: .zero).isEmpty)
    }

    @Test(arguments: ["127.0.0.1", "::1"])
    func `the error queue reports a closed port with sender and hop limit`(address: String) async throws {
        let errors = try await inside {
            let endpoint = try SocketEndpoint(address, port: 9)
            let socket = try NetworkSocket.open(.udp, endpoint.family)
            try socket.connect(to: endpoint)
            try socket.send([1, 2, 3])
            var errors: [ErrorQueueMessage] = []
            _ = Deadline(after: .seconds(5)).poll {
                MessageBuffer().receiveErrors(from: socket) { error, _ in errors.append(error) }
                return errors.contains { $0.isICMP }
            }
            return errors
        }
        let error = try #require(errors.first { $0.isICMP })
        #expect(error.offender == WireAddress(address))
        #expect(error.type == (address == "::1" ? 1 : 3))
        #expect(error.code == (address == "::1" ? 4 : 3))
        #expect(error.hopLimit == 64)
        #expect(error.cause.rawValue == ECONNREFUSED)
        // The send timestamp is in the same queue.
        let sent = try #require(errors.first { $0.origin == .timestamping })
        #expect(sent.data == 0)
        #expect(sent.time != nil)
    }

    @Test func `an error has a kind and a hint`() async throws {
        try await inside {
            func refusal(_ kind: SocketKind, _ settings: SocketSettings) -> SocketError? {
                do throws(SocketError) {
                    _ = try NetworkSocket.open(kind, .ipv4, settings)
                    return nil
                } catch {
                    return error
                }
            }
            let interface = try #require(refusal(.udp, SocketSettings(interface: "nix0")))
            #expect(interface.kind == .noInterface)
            #expect(
                "\(interface)"
                    == "cannot bind a socket to the interface nix0: No such device; there is no such interface"
            )
            let source = try #require(refusal(.udp, SocketSettings(source: try SocketEndpoint("192.0.2.9"))))
            #expect(source.kind == .noSuchAddress)
            // No group is in the range of a new namespace.
            #expect(refusal(.ping, SocketSettings())?.kind == .notPermitted)
        }
        try await inside {
            try LabThread.run(withoutCapability: 12 /* CAP_NET_ADMIN */) {
                try LabThread.run(withoutCapability: 13 /* CAP_NET_RAW */) {
                    do throws(SocketError) {
                        _ = try NetworkSocket.open(.udp, .ipv4, SocketSettings(mark: 7))
                        Issue.record("a mark was set without a privilege")
                    } catch {
                        #expect(error.kind == .notPermitted)
                        #expect(error.step == .setMark(7))
                    }
                }
            }
        }
    }

    @Test func `all settings are applied`() async throws {
        try await inside {
            for address in ["127.0.0.1", "::1"] {
                let endpoint = try SocketEndpoint(address)
                for kind in [SocketKind.udp, .tcp] {
                    let settings = SocketSettings(
                        source: endpoint,
                        interface: "lo",
                        mark: 7,
                        hopLimit: 2,
                        maximumSegment: 1200,
                        priority: 3,
                        fragmentation: .probing
                    )
                    let socket = try NetworkSocket.open(kind, endpoint.family, settings)
                    #expect(socket.localEndpoint?.address == endpoint.address)
                }
            }
        }
    }
}

struct DeadlineHeapTests {
    @Test func `deadlines are returned when they have passed, the earliest first`() {
        var chance = SeededGenerator(seed: 7)
        let moments = (0..<500).map { _ in Duration.milliseconds(Int.random(in: 0..<300, using: &chance)) }
        var heap = DeadlineHeap()
        for (index, moment) in moments.enumerated() { heap.insert(moment, for: UInt64(index)) }
        var popped: [Duration] = []
        for now in stride(from: 0, through: 300, by: 10) {
            while let (operation, moment) = heap.popDue(at: .milliseconds(now)) {
                #expect(moment <= .milliseconds(now))
                #expect(moment == moments[Int(operation)])
                popped.append(moment)
            }
        }
        #expect(popped == moments.sorted())
        #expect(heap.next == nil)
    }
}
