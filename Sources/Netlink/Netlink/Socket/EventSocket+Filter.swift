import LinuxSupport

extension EventSocket {
    /// Lets the kernel leave out routes that lead elsewhere, or, with nil, none. Thread-safe.
    ///
    /// A filter takes the place of another in one step. It judges what the kernel sends from then on; what has been queued
    /// stays. So set the filter first, then evaluate what it watches anew.
    ///
    /// A kernel with too little memory for options (`net.core.optmem_max`) gets a shorter and coarser program.
    ///
    /// Throws a `NetlinkError` of stage `.filter` when the kernel takes none, as under seccomp: the socket then hears
    /// everything. At stage `.socket` it has kept the old filter, and may be deaf to what the new one watches: open another
    /// socket.
    ///
    /// C counterpart: SO_ATTACH_FILTER and SO_DETACH_FILTER of `socket(7)`.
    package func setFilter(_ filter: RouteFilter?) throws(NetlinkError) {
        try isFiltered.withLock { isFiltered throws(NetlinkError) in
            guard var filter else {
                try detachFilter(&isFiltered)
                return
            }
            while true {
                do throws(SystemError) {
                    try socket.attach(filter.program)
                    isFiltered = true
                    return
                } catch {
                    // Old and new are both counted until one has replaced the other.
                    let hadFilter = isFiltered
                    try detachFilter(&isFiltered)
                    if error == .noMemory, hadFilter { continue }
                    guard error == .noMemory, let shorter = filter.halved else {
                        throw NetlinkError("filter a netlink socket", error, stage: .filter)
                    }
                    filter = shorter
                }
            }
        }
    }

    private func detachFilter(_ isFiltered: inout Bool) throws(NetlinkError) {
        guard isFiltered else { return }
        do throws(SystemError) {
            try socket.detachFilter()
        } catch .noEntry {
            // There is none.
        } catch {
            throw NetlinkError("remove the filter of a netlink socket", error)
        }
        isFiltered = false
    }
}
