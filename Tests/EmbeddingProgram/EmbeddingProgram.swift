import Dispatch
import Glibc
import NetworkReachability

/// A daemon as others write it: it listens to the network at large and prints each status until it is ended.
@main
struct EmbeddingProgram {
    private static let manager = NetworkReachabilityManager()

    static func main() {
        manager?.startListening(onQueue: DispatchQueue(label: "daemon", target: .global())) { status in
            print(status)
            fflush(nil)
        }
        dispatchMain()
    }
}
