import ReachabilityFleet
import ReachabilityLedger
import Testing

/// Returns the hub's clock, as seconds after an arbitrary time.
func at(_ seconds: Int) -> Duration { .seconds(1_000_000 + seconds) }

func place(_ device: String, site: String = "north") throws -> DeviceID {
    try #require(DeviceID(site: site, device: device))
}

/// Returns a report with CLOCK_BOOTTIME in seconds. The wall clock of the machine is ten years behind the hub's.
func report(_ seconds: Int, boot: String = "one", refresh: Int = 300) -> DeviceState.Report {
    DeviceState.Report(
        boot: boot,
        wall: machineWall(seconds),
        bootTime: .seconds(seconds),
        refresh: .seconds(refresh)
    )
}

/// Returns the wall clock of such a machine.
func machineWall(_ seconds: Int) -> Duration { .seconds(1_000 + seconds) }

func online(_ session: String, _ seconds: Int = 0, boot: String = "one") -> DeviceState {
    DeviceState(session: session, standing: .online, report: report(seconds, boot: boot))
}

func outage(
    _ id: String = "o1",
    _ attribution: Attribution = .us,
    _ cause: OutageCause? = .link,
    target: String = "internet",
    from start: Int,
    to end: Int?
) -> DeviceOutage {
    DeviceOutage(
        id: id,
        target: target,
        attribution: attribution,
        cause: cause,
        start: machineWall(start),
        end: end.map { machineWall($0) }
    )
}
