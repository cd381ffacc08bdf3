package import ReachabilityLedger

/// Something that became of the ledger, numbered in the order in which it did.
package struct ServiceEvent: Sendable {
    /// What happened.
    package enum Kind: Sendable {
        /// An interval ended.
        case intervalClosed(LedgerInterval)
        /// The next began.
        case intervalOpened(LedgerInterval)
        /// More is known of the interval that lasts.
        case intervalRefined(LedgerInterval)
        case outageBegan(Outage)
        case outageRefined(Outage)
        case outageEnded(Outage)
        /// It was found out why the interval that lasts is as it is.
        case explained(EvidenceRecord)
        /// Somebody wrote about an outage.
        case noted(OutageNote)
        /// It was found out who began an outage.
        case actorFound(OutageActor)
        /// Work was announced.
        case maintenancePlanned(PlannedMaintenance)
        /// Work was called off, or ended early: its name.
        case maintenanceCancelled(String)
        /// The wall clock was set by so much.
        case clockStepped(Duration)
        /// The machine had slept for so long.
        case resumed(Duration)
    }

    /// Grows by one with each event of this run.
    package let number: UInt64
    /// When it became known.
    package let instant: LedgerInstant
    /// The target it is about; nil for the service.
    package let target: String?
    package let kind: Kind
    /// The interface by which packets to the target leave, or left last; nil if there was none in this run.
    package var interface: String?
}

extension ServiceEvent.Kind {
    init(_ event: TargetLedger.Event) {
        switch event {
        case .closed(let interval): self = .intervalClosed(interval)
        case .opened(let interval): self = .intervalOpened(interval)
        case .refined(let interval): self = .intervalRefined(interval)
        case .outageBegan(let outage): self = .outageBegan(outage)
        case .outageRefined(let outage): self = .outageRefined(outage)
        case .outageEnded(let outage): self = .outageEnded(outage)
        }
    }
}
