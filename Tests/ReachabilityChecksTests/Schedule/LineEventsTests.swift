import KernelLab
import NetworkReachability
import NetworkReachabilityTesting
import Testing

@testable import ReachabilityChecks

@Suite struct LineEventsTests {
    @Test func `the path is the first event, and later events follow`() async throws {
        let (kernel, resolver, clock) = (FakeKernel.connected(), FakeResolver(), ManualClock())
        let manager = try NetworkReachabilityManager(kernel: kernel, clock: clock, resolver: resolver)
        var events = LineEvents.stream(of: manager).makeAsyncIterator()
        guard case .path(let line)? = await events.next() else {
            Issue.record("no path")
            return
        }
        #expect(line.obstacle == nil && !line.isMetered)
        resolver.changeConfiguration()
        #expect(await events.next() == .resolverChanged)
        await clock.sleep(for: .seconds(100))
        #expect(await events.next() == .resumed)
        kernel.setCarrier("eth0", false)
        guard case .path(let other)? = await events.next() else {
            Issue.record("no path")
            return
        }
        #expect(other.obstacle?.failurePoint == .link && other.generation > line.generation)
    }

    @Test func `a modem is metered unless the user sets another value`() async throws {
        let kernel = FakeKernel()
        kernel.addLink("wwan0", kind: .wwan)
        kernel.addAddress("10.64.0.2/30", to: "wwan0")
        kernel.addRoute("default", on: "wwan0")
        for (said, expected) in [(nil, true), (false, false), (true, true)] {
            let manager = try NetworkReachabilityManager(kernel: kernel)
            var events = LineEvents.stream(of: manager, isMetered: said).makeAsyncIterator()
            guard case .path(let line)? = await events.next() else {
                Issue.record("no path")
                return
            }
            #expect(line.isMetered == expected)
        }
    }
}
