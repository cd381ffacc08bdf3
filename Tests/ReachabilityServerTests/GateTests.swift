import KernelLab
import LinuxSupport
import NetworkLab
import NetworkReachability
import ServiceLab
import Testing

@testable import ReachabilityServer
@testable import ReachabilityService

/// Gates: TCP addresses that are open only while a target is up.
@Suite struct GateTests {
    @Test(arguments: ["127.0.0.1", "::1"])
    func `a gate accepts and refuses connections, and keeps its address`(host: String) throws {
        let address = try #require(IPAddress(host)).wire
        let port = try GateSocket(SocketEndpoint(address)).port
        let gate = try GateSocket(SocketEndpoint(address, port: port))
        #expect(port > 0)
        #expect(try !accepts(port, at: host))
        for _ in 0..<3 {
            #expect(gate.setOpen(true))
            #expect(try accepts(port, at: host))
            #expect(gate.setOpen(false))
            #expect(try !accepts(port, at: host))
            #expect(gate.port == port)
        }
    }

    @Test func `a gate follows its target`() async throws {
        let kernel = FakeKernel.connected()
        let manager = try NetworkReachabilityManager(kernel: kernel)
        let service = MonitoringService(clock: .fake(kernel.clock), resume: .init())
        let gates = Gates(service)
        // The port is free afterwards.
        let port = try GateSocket(SocketEndpoint(try #require(IPAddress("127.0.0.1")).wire)).port
        let text = "schema = 1\n[[gate]]\nlisten = \"127.0.0.1:\(port)\"\n"
        try gates.prepare(try ServiceConfiguration(text))()
        #expect(try !accepts(port))
        service.insert("internet", manager)
        #expect(try await eventually { try accepts(port) })
        kernel.setCarrier("eth0", false)
        #expect(try await eventually { try !accepts(port) })
        kernel.setCarrier("eth0", true)
        #expect(try await eventually { try accepts(port) })
        // The same address with another target.
        let other = text + "target = \"other\"\n[[target]]\nname = \"other\"\nhost = \"192.0.2.1\"\n"
        try gates.prepare(try ServiceConfiguration(other))()
        #expect(try !accepts(port))
        try gates.prepare(try ServiceConfiguration("schema = 1\n"))()
        #expect(try !accepts(port))
        gates.stop()
    }

    @Test func `an address in use and wrong keys are reported`() throws {
        let taken = try GateSocket(SocketEndpoint(try #require(IPAddress("127.0.0.1")).wire))
        taken.setOpen(true)
        let service = MonitoringService(clock: .system, resume: .init())
        let text = "schema = 1\n[[gate]]\nlisten = \"127.0.0.1:\(taken.port)\"\n"
        do throws(ConfigurationProblems) {
            _ = try Gates(service).prepare(try ServiceConfiguration(text))
            Issue.record("an address in use was accepted")
        } catch {
            #expect(
                error.problems.map(\.text) == ["cannot listen at 127.0.0.1:\(taken.port): Address already in use"]
            )
        }
        let wrong = "schema = 1\n[[gate]]\nlisten = \"localhost\"\ntarget = \"x\"\n[[gate]]\n"
        do throws(ConfigurationProblems) {
            _ = try ServiceConfiguration(wrong)
            Issue.record("wrong keys were accepted")
        } catch {
            #expect(
                error.problems.map { $0.description(in: "f") } == [
                    "f:3: gate[1].listen: must be an address and a port such as 127.0.0.1:9674, not \"localhost\"",
                    "f:4: gate[1].target: there is no target \"x\"", "f:5: gate[2].listen: missing",
                ]
            )
        }
    }
}
