/// Tells of the outages of a service: once for each root cause.
package typealias Notifying = Telling<IncidentBook>

extension Telling where Book == IncidentBook {
    /// - Parameters:
    ///   - history: Where it is written what was told; nil for nowhere.
    ///   - report: Told of what people should know, in one line.
    package convenience init(
        _ service: MonitoringService,
        history: HistoryWriter?,
        writer: any NotificationWriting,
        environment: NotifyEnvironment,
        report: @escaping @Sendable (String) -> Void
    ) {
        let source = TellingSource<ServiceEvent>(
            now: { service.snapshot.now },
            clock: service.clock,
            undecided: { service.undecided },
            follow: { _, listener in service.addListener(listener) }
        )
        let memory = history.map { history in
            TellingMemory(
                name: history.file,
                isThere: { history.store != nil },
                read: { try history.store?.incidents() ?? [] },
                write: { incidents, _ in try history.store?.write(incidents) }
            )
        }
        self.init(source, memory: memory, writer: writer, environment: environment, report: report)
    }
}
