import Dispatch
import LinuxPrimitives
import Netlink
import NetworkReachability

/// A kernel whose answers are written down.
struct RecordingKernel: Kernel {
    private let kernel: any Kernel
    private let recorder: Recorder

    init(_ kernel: any Kernel, _ recorder: Recorder) {
        self.kernel = kernel
        self.recorder = recorder
    }

    func connect() throws(NetlinkError) -> any KernelConnection {
        do throws(NetlinkError) {
            let connection = RecordingConnection(try kernel.connect(), recorder)
            recorder.note(RecordedQuestion(.connect), .success([]))
            return connection
        } catch {
            recorder.note(RecordedQuestion(.connect), .failure(error))
            throw error
        }
    }

    /// Nothing that is notified of a target depends on them.
    func defaultRoutes() throws(NetlinkError) -> [DefaultRoute] { try kernel.defaultRoutes() }

    func watchNamespace(on queue: DispatchQueue, _ changed: @escaping @Sendable () -> Void) -> Cancellation? {
        let watch = kernel.watchNamespace(on: queue) { [recorder] in
            recorder.turn(.namespaceChanged)
            changed()
        }
        recorder.note(RecordedQuestion(.watchesNamespace), watch != nil)
        return watch
    }
}
