import Dispatch
import LinuxSupport
import Netlink
import NetworkReachability
import NetworkReachabilityTesting
import Testing

@Suite struct FakeResolverTests {
    private typealias Answer = Result<[NameLookup.Address], NameLookup.Failure>

    private let resolver = FakeResolver()
    private let answers = RecordingListener<Answer>()

    private func ask(_ name: String) {
        resolver.resolve(name) { [answers] in answers.record($0) }
    }

    private func addresses(_ texts: String...) -> [NameLookup.Address] {
        texts.compactMap { WireAddress($0) }.map { NameLookup.Address($0) }
    }

    @Test func theNameServiceAnswers() {
        resolver.set("example.org", addresses: ["192.0.2.1", "2001:db8::1"])
        ask("EXAMPLE.org.")
        ask("elsewhere.example")
        resolver.fail("example.org")
        ask("example.org")
        #expect(answers.waitForCount(3))
        #expect(
            answers.values == [
                .success(addresses("192.0.2.1", "2001:db8::1")), .failure(.noSuchName),
                .failure(.unavailable("Temporary failure in name resolution")),
            ]
        )
        #expect(resolver.questionCount(of: "example.org") == 2)
    }

    @Test func zones() {
        resolver.set("printer.example", addresses: ["fe80::1%2"])
        ask("printer.example")
        #expect(answers.waitForCount(1))
        #expect((try? answers.values[0].get())?.first?.zone == 2)
    }

    @Test func aNameIsHeldUntilItIsReleased() {
        resolver.hold("example.org")
        ask("example.org")
        #expect(resolver.waitingCount(of: "example.org") == 1)
        resolver.set("example.org", addresses: ["192.0.2.1"])
        resolver.release("example.org")
        #expect(answers.waitForCount(1))
        #expect(answers.values == [.success(addresses("192.0.2.1"))])
        #expect(resolver.waitingCount(of: "example.org") == 0)
    }

    @Test func namesKnownHere() {
        resolver.setHosts("nas", addresses: ["10.0.0.9"])
        #expect(resolver.localAddresses(of: "NAS") == addresses("10.0.0.9"))
        #expect(resolver.localAddresses(of: "app.localhost") == addresses("::1", "127.0.0.1"))
        resolver.setHosts("nas", addresses: [])
        #expect(resolver.localAddresses(of: "nas") == [])
    }

    @Test func changesOfTheConfigurationAreTold() {
        let queue = DispatchQueue(label: "FakeResolverTests")
        let changes = RecordingListener<Void>()
        let watch = resolver.watchConfiguration(on: queue) { changes.record(()) }
        resolver.changeConfiguration()
        #expect(changes.waitForCount(1))
        watch?.cancel()
        resolver.changeConfiguration()
        queue.sync {}
        #expect(changes.count == 1)
    }
}
