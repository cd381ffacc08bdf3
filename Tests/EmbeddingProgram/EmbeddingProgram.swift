import Dispatch
import Glibc
import NetworkReachability

/// An example of a daemon that uses the library. It listens to the network at large and prints each status until it
/// is ended.
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
