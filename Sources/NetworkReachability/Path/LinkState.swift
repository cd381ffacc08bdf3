import Netlink

/// What a verdict asks of a link. Plain bytes: it is asked for with every way that leads over the link, where copies of a
/// `Link` and its texts would cost more than the judging.
struct LinkState {
    let index: UInt32
    /// Maximum transmission unit in bytes.
    let mtu: UInt32
    /// Why no packet leaves through the link; nil when one does.
    let obstacle: Verdict.Cause?
    /// The other end of a tunnel, where that is in this network namespace and has to be reached.
    let remote: WireAddress?
    /// The device below that keeps its own carrier apart.
    let lower: UInt32?
    let isLoopback: Bool

    init(_ link: Link) {
        index = link.index
        mtu = link.mtu
        obstacle = link.obstacle
        remote = link.lowerIsElsewhere ? nil : link.tunnelRemote
        lower = link.kind == "vxlan" && !link.lowerIsElsewhere ? link.lowerIndex : nil
        isLoopback = link.isLoopback
    }

    var carriesPackets: Bool { !isLoopback && obstacle == nil }
}

extension Link {
    /// Why no packet leaves through this link; nil when one does. Judged by what is true when asked: IFF_UP and
    /// IFF_LOWER_UP. The operational state lags behind by up to a second, except for `dormant`.
    var obstacle: Verdict.Cause? {
        if !isUp { return .linkDown }
        if !hasCarrier { return .noCarrier }
        return isDormant ? .dormant : nil
    }
}
