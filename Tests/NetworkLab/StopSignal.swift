internal import CNetworkLab
import Glibc

/// Tells a thread that polls descriptors to end. `requested` becomes ready (hung up) when it is to.
final class StopSignal: Sendable {
    let requested: LabDescriptor
    private let holder: LabDescriptor

    init() throws {
        var ends: [CInt] = [-1, -1]
        try check("pipe2", lab_pipe(&ends))
        requested = LabDescriptor(ends[0])
        holder = LabDescriptor(ends[1])
    }

    /// Doing it twice does nothing.
    func request() {
        holder.close()
    }
}
