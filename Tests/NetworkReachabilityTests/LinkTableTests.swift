import LinuxPrimitives
import Netlink
import NetworkReachabilityTesting
import Testing

@testable import NetworkReachability

/// What one look remembers of links.
@Suite struct LinkTableTests {
    private let kernel = FakeKernel()

    init() {
        kernel.addLink("eth0")
    }

    @Test func `a link is asked for once, by its index`() throws {
        var links = LinkTable(try kernel.connect())
        let index = try #require(kernel.index(of: "eth0"))
        #expect(try links.link(index: index)?.hasCarrier == true)
        kernel.setCarrier("eth0", false)
        #expect(try links.link(index: index)?.hasCarrier == true)
        #expect(links.hasCarrierSomewhere)
        links.removeAll()
        #expect(try links.link(index: index)?.hasCarrier == false)
        #expect(!links.hasCarrierSomewhere)
    }

    @Test func `a link asked for by name replaces what was known`() throws {
        var links = LinkTable(try kernel.connect())
        let index = try #require(kernel.index(of: "eth0"))
        #expect(try links.link(zone: "eth0")?.hasCarrier == true)
        kernel.setCarrier("eth0", false)
        #expect(try links.link(zone: "eth0")?.hasCarrier == false)
        #expect(try links.link(index: index)?.hasCarrier == false)
        #expect(!links.hasCarrierSomewhere)
    }

    @Test func `what is not there is remembered too`() throws {
        var links = LinkTable(try kernel.connect())
        #expect(try links.link(index: 99) == nil)
        #expect(try links.link(zone: "eth9") == nil)
        #expect(!links.hasCarrierSomewhere)
    }

    @Test func `links asked for with routes are known`() throws {
        var links = LinkTable(try kernel.connect())
        let index = try #require(kernel.index(of: "eth0"))
        let address = try #require(WireAddress("192.0.2.1"))
        _ = try links.routes([RouteQuery(destination: address)], expecting: [index, 99])
        #expect(links.lookups == 1)
        kernel.setCarrier("eth0", false)
        #expect(try links.link(index: index)?.hasCarrier == true)
        #expect(try links.link(index: 99) == nil)
    }
}
