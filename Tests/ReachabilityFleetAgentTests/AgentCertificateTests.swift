import LinuxSupport
import MQTT
import Testing

@testable import ReachabilityFleetAgent

/// The checks of an agent's certificate.
struct AgentCertificateTests {
    @Test func `the agent checks its certificate at the start and then once per day, connected or not`() throws {
        var world = try AgentWorld { $0.tls.certificate = "door.pem" }
        world.take(.path(isSatisfied: false))
        #expect(world.pass() == [.checkCertificate])
        let first = world.now
        #expect(world.machine.deadline == first + .seconds(86_400))
        #expect(world.take(.time).isEmpty)
        #expect(world.pass() == [.checkCertificate])
        world.connect()
        try world.page([])
        var looks: [Duration] = []
        while looks.count < 2 { if world.pass().contains(.checkCertificate) { looks.append(world.now - first) } }
        #expect(looks == [.seconds(2 * 86_400), .seconds(3 * 86_400)])
        _ = world.take(.leave("stopped"))
        _ = world.broker(.ended(nil))
        #expect(world.machine.deadline == nil)
    }

    @Test func `an agent without a certificate checks nothing`() throws {
        var world = try AgentWorld()
        world.connect()
        try world.page([])
        #expect(!(0..<200).contains { _ in world.pass().contains(.checkCertificate) })
    }
}
