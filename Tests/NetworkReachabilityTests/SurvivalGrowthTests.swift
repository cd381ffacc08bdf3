import Foundation
import NetworkLab
import NetworkReachability
import Testing

/// What a long life costs. Each test has a process of its own: whatever else runs would be measured too.
@Suite(.serialized, .timeLimit(.minutes(15))) struct SurvivalGrowthTests {
    @Test func `1,000 starts and stops leave nothing behind`() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let uplink = try await Uplink.make()
            let manager = try #require(try await uplink.namespace.asProcess { NetworkReachabilityManager() })
            let queue = DispatchQueue(label: "listener")
            func cycle(_ count: Int) async throws {
                for _ in 0..<count {
                    let recorder = AlamofireRecorder()
                    manager.startListening(onQueue: queue, onUpdatePerforming: recorder.record)
                    let told = try await recorder.statuses(atLeast: 1)
                    #expect(told == [.reachable(.ethernetOrWiFi)])
                    manager.stopListening()
                }
            }
            try await cycle(300)
            let before = SurvivalMeasure.now
            try await cycle(1000)
            let after = SurvivalMeasure.now
            survivalReport("1,000 cycles: \(before) -> \(after)")
            #expect(after.descriptors <= before.descriptors + 4)
            #expect(after.threads <= before.threads + 4)
            #expect(after.residentKilobytes <= before.residentKilobytes + 2048)
        }
        survivalPrint(result)
    }

    @Test func `500 managers that listen share what they need, and give it back`() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let uplink = try await Uplink.make()
            func listen() async throws -> [(NetworkReachabilityManager, AlamofireRecorder)] {
                var listening: [(NetworkReachabilityManager, AlamofireRecorder)] = []
                let managers = try await uplink.namespace.asProcess {
                    (0..<500).map { index in
                        NetworkReachabilityManager(host: "203.0.113.\(index / 2)")
                    }
                }
                for manager in managers {
                    let recorder = AlamofireRecorder()
                    let manager = try #require(manager)
                    manager.startListening(
                        onQueue: DispatchQueue(label: "one", target: .global()),
                        onUpdatePerforming: recorder.record
                    )
                    listening.append((manager, recorder))
                }
                for (_, recorder) in listening { _ = try await recorder.statuses(atLeast: 1) }
                return listening
            }
            /// A life of 500 managers, and what it takes while they listen.
            func live() async throws -> SurvivalMeasure {
                let listening = try await listen()
                let during = SurvivalMeasure.now
                try await uplink.setConnected(false)
                for (_, recorder) in listening {
                    let told = try await recorder.statuses(atLeast: 2)
                    #expect(told == [.reachable(.ethernetOrWiFi), .notReachable])
                }
                try await uplink.setConnected(true)
                return during
            }
            // The first time Dispatch and the allocator settle.
            _ = try await live()
            let before = SurvivalMeasure.now
            var during = before
            for _ in 0..<5 { during = try await live() }
            let after = SurvivalMeasure.now
            survivalReport("500 managers, five times: \(before) -> \(during) -> \(after)")
            #expect(during.descriptors <= before.descriptors + 12)
            #expect(during.threads <= before.threads + 12)
            #expect(after.descriptors <= before.descriptors + 4)
            #expect(after.residentKilobytes <= before.residentKilobytes + 4096)
        }
        survivalPrint(result)
    }

    @Test func `making and letting go of managers leaves nothing behind`() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let uplink = try await Uplink.make()
            func cycle(_ count: Int) async throws {
                try await uplink.namespace.asProcess {
                    for index in 0..<count {
                        let manager = NetworkReachabilityManager(host: index % 2 == 0 ? "203.0.113.9" : "localhost")
                        #expect(manager?.status == .reachable(.ethernetOrWiFi))
                    }
                }
            }
            try await cycle(300)
            let before = SurvivalMeasure.now
            try await cycle(1000)
            // Threads of the resolver may still be on their way out.
            let isBack = try await eventually {
                let now = SurvivalMeasure.now
                return now.descriptors <= before.descriptors + 4 && now.threads <= before.threads + 4
            }
            let after = SurvivalMeasure.now
            survivalReport("1,000 managers one by one: \(before) -> \(after)")
            #expect(isBack)
            #expect(after.residentKilobytes <= before.residentKilobytes + 2048)
        }
        survivalPrint(result)
    }
}
