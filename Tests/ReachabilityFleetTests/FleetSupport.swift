import ReachabilityFleet
import ReachabilityLedger
import Testing

/// The hub's clock, some seconds after an arbitrary moment.
func at(_ seconds: Int) -> Duration { .seconds(1_000_000 + seconds) }

func place(_ device: String, site: String = "north") throws -> FleetPlace {
    try #require(FleetPlace(site: site, device: device))
}

/// What a machine says whose CLOCK_BOOTTIME is so many seconds, and whose wall clock is ten years behind the hub's.
func report(_ seconds: Int, boot: String = "one", refresh: Int = 300) -> DeviceState.Report {
    DeviceState.Report(
        boot: boot,
        wall: machineWall(seconds),
        bootTime: .seconds(seconds),
        refresh: .seconds(refresh)
    )
}

/// What that wall clock says then.
func machineWall(_ seconds: Int) -> Duration { .seconds(1_000 + seconds) }

func online(_ session: String, _ seconds: Int = 0, boot: String = "one") -> DeviceState {
    DeviceState(session: session, standing: .online, report: report(seconds, boot: boot))
}

func outage(
    _ id: String = "o1",
    _ attribution: Attribution = .us,
    _ cause: OutageCause? = .link,
    from start: Int,
    to end: Int?
) -> DeviceOutage {
    DeviceOutage(
        id: id,
        target: "internet",
        attribution: attribution,
        cause: cause,
        start: machineWall(start),
        end: end.map { machineWall($0) }
    )
}
