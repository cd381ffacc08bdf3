import Netlink
import Testing

@testable import NetworkReachability

@Suite("The hosts file")
struct HostsFileTests {
    private let file = HostsFile(
        text: """
            # 192.0.2.9 commented
            127.0.0.1\tlocalhost
            192.0.2.1  Router.example router   # the router
            2001:db8::1 router
            not-an-address broken
            192.0.2.2
            192.0.2.3 bücher.example
            192.0.2.4 xn--mnchen-3ya.example
            """
    )

    private func addresses(_ name: String) -> [String] {
        file.addresses(of: name).map(\.address.description)
    }

    @Test("All addresses of a name, in order, without regard to case or a last dot")
    func lookup() {
        #expect(addresses("router") == ["192.0.2.1", "2001:db8::1"])
        #expect(addresses("ROUTER.EXAMPLE.") == ["192.0.2.1"])
        #expect(addresses("localhost") == ["127.0.0.1"])
    }

    @Test("Names of other scripts are the same however they are spelled")
    func scripts() {
        for name in ["bücher.example", "BÜCHER.Example", "xn--bcher-kva.example"] {
            #expect(addresses(name) == ["192.0.2.3"])
        }
        #expect(addresses("münchen.example") == ["192.0.2.4"])
        #expect(addresses("munchen.example") == [])
    }

    @Test("Comments, broken lines and lines without names count for nothing")
    func nothing() {
        #expect(addresses("commented") == [])
        #expect(addresses("broken") == [])
        #expect(addresses("the") == [])
        #expect(addresses("") == [])
    }

    @Test("localhost is known even without a file")
    func localhost() {
        let none = HostsFile(path: "/nonexistent")
        #expect(none.addresses(of: "LocalHost.").map(\.address.description) == ["127.0.0.1", "::1"])
        #expect(none.addresses(of: "db.localhost").map(\.address.description) == ["127.0.0.1", "::1"])
        #expect(none.addresses(of: "notlocalhost").isEmpty)
    }
}
