import LinuxSupport
import MQTT
import Testing

@testable import ReachabilityFleetAgent

/// When an agent looks at its certificate.
struct AgentCertificateTests {
    @Test("It looks at the certificate at the beginning, and once a day after that, connected or not")
    func looks() throws {
        var world = try AgentWorld { $0.tls.certificate = "door.pem" }
        world.take(.path(isSatisfied: false))
        #expect(world.pass() == [.lookAtCertificate])
        let first = world.now
        #expect(world.machine.deadline == first + .seconds(86_400))
        #expect(world.take(.time).isEmpty)
        #expect(world.pass() == [.lookAtCertificate])
        world.connect()
        try world.page([])
        var looks: [Duration] = []
        while looks.count < 2 { if world.pass().contains(.lookAtCertificate) { looks.append(world.now - first) } }
        #expect(looks == [.seconds(2 * 86_400), .seconds(3 * 86_400)])
        _ = world.take(.leave("stopped"))
        _ = world.broker(.ended(nil))
        #expect(world.machine.deadline == nil)
    }

    @Test("Without a certificate there is nothing to look at")
    func looksAtNothing() throws {
        var world = try AgentWorld()
        world.connect()
        try world.page([])
        #expect(!(0..<200).contains { _ in world.pass().contains(.lookAtCertificate) })
    }
}
