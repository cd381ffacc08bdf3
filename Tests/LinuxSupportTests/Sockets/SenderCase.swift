import NetworkLab

@testable import LinuxSupport

/// A way in which packets do not arrive, and who says so with which ICMP error.
struct SenderCase: Sendable {
    struct Word: Sendable {
        let address: String
        let sender: String
        let type: UInt8
        let code: UInt8

        init(_ address: String, _ sender: String, _ type: UInt8, _ code: UInt8) {
            self.address = address
            self.sender = sender
            self.type = type
            self.code = code
        }
    }

    let name: String
    var hopLimit: UInt8?
    var port = EchoServer.port
    let words: [Word]

    init(_ name: String, hopLimit: UInt8? = nil, port: UInt16 = EchoServer.port, _ words: Word...) {
        self.name = name
        self.hopLimit = hopLimit
        self.port = port
        self.words = words
    }

    /// In a `Chain`, for everything that is sent.
    static let all = [
        SenderCase(
            "the router prohibits",
            Word("198.51.100.1", "10.1.0.1", 3, 13),
            Word("fd98::1", "fd01::1", 1, 1)
        ),
        SenderCase(
            "the router has an unreachable route",
            Word("198.51.100.2", "10.1.0.1", 3, 1),
            Word("fd98::2", "fd01::1", 1, 0)
        ),
        SenderCase(
            "the router has no route",
            Word("192.0.2.1", "10.1.0.1", 3, 0),
            Word("2001:db8::1", "fd01::1", 1, 0)
        ),
        SenderCase(
            "the provider prohibits",
            Word("198.51.100.65", "10.9.0.2", 3, 13),
            Word("fd98::65", "fd09::2", 1, 1)
        ),
        SenderCase(
            "the router does not find the host",
            Word("10.9.0.99", "10.1.0.1", 3, 1),
            Word("fd09::99", "fd01::1", 1, 3)
        ),
        SenderCase(
            "we do not find the neighbour",
            Word("10.1.0.77", "10.1.0.2", 3, 1),
            Word("fd01::77", "fd01::2", 1, 3)
        ),
        SenderCase(
            "the hop limit ends at the router",
            hopLimit: 1,
            Word("203.0.113.7", "10.1.0.1", 11, 0),
            Word("fd77::10", "fd01::1", 3, 0)
        ),
        SenderCase(
            "the hop limit ends at the provider",
            hopLimit: 2,
            Word("203.0.113.7", "10.9.0.2", 11, 0),
            Word("fd77::10", "fd09::2", 3, 0)
        ),
    ]

    /// For UDP alone.
    static let closedPort = SenderCase(
        "the port is closed",
        port: 9,
        Word("203.0.113.7", "203.0.113.7", 3, 3),
        Word("fd77::10", "fd77::10", 1, 4)
    )
}
