import Foundation
import ReachabilityFleet
import ReachabilityFleetHub
import ReachabilityLedger
import ReachabilityService
import Testing

/// Returns the hub's clock, as seconds after an arbitrary time.
func at(_ seconds: Int) -> Duration { .seconds(1_700_000_000 + seconds) }

func place(_ device: String, site: String = "north") throws -> DeviceID {
    try #require(DeviceID(site: site, device: device))
}

/// Returns the report of a machine whose clock is right.
func report(_ seconds: Int, boot: String = "one") -> DeviceState.Report {
    DeviceState.Report(boot: boot, wall: at(seconds), bootTime: .seconds(seconds), refresh: .seconds(300))
}

func outage(_ id: String, _ start: Int, _ end: Int?, target: String? = nil) -> DeviceOutage {
    DeviceOutage(
        id: id,
        target: target ?? "internet",
        attribution: target == nil ? .us : .them,
        cause: target == nil ? .link : .host,
        start: at(start),
        end: end.map { at($0) }
    )
}

extension Hub.Message {
    static func online(
        _ device: String,
        _ session: String,
        _ seconds: Int,
        boot: String = "one",
        site: String = "north"
    )
        -> Hub.Message
    {
        let state = DeviceState(session: session, standing: .online, report: report(seconds, boot: boot))
        return Hub.Message(topic: "reach/v1/\(site)/\(device)/state", payload: state.bytes, time: at(seconds))
    }

    static func will(_ device: String, _ session: String, _ seconds: Int, site: String = "north") -> Hub.Message {
        let state = DeviceState.will(session: session)
        return Hub.Message(topic: "reach/v1/\(site)/\(device)/state", payload: state.bytes, time: at(seconds))
    }

    static func event(
        _ device: String,
        _ session: String,
        _ seconds: Int,
        _ kind: DeviceEvent.Kind,
        number: UInt64? = nil,
        site: String = "north"
    ) -> Hub.Message {
        let position = number.map { EventPosition(epoch: "e", number: $0) }
        let event = DeviceEvent(session: session, position: position, wall: at(seconds), kind: kind)
        return Hub.Message(topic: "reach/v1/\(site)/\(device)/event", payload: event.bytes, time: at(seconds))
    }
}

/// A temporary directory, which is deleted after the test.
final class ScratchDirectory {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "hub-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { path + "/" + name }
}
