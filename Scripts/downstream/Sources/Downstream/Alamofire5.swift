import Dispatch
import NetworkReachability

/// The Alamofire 5 style: the listener is an argument.
final class Alamofire5Style {
    private let manager: NetworkReachabilityManager? = .default
    private let queue = DispatchQueue(label: "downstream")

    func start() {
        manager?.startListening { print($0) }
        manager?.startListening(onQueue: .main) { status in
            switch status {
            case .unknown: print("unknown")
            case .notReachable: print("not reachable")
            case .reachable(let type): print(type == .cellular ? "cellular" : "ethernet or Wi-Fi")
            }
        }
        NetworkReachabilityManager(host: "localhost")?
            .startListening(
                onQueue: queue,
                onUpdatePerforming: { status in
                    if case .reachable(.cellular) = status { print("cellular") }
                }
            )
    }

    func ask() {
        guard let manager = NetworkReachabilityManager() else { return }
        let flags: SCNetworkReachabilityFlags? = manager.flags
        if flags?.contains(.isWWAN) == true || manager.isReachableOnCellular { print("cellular") }
        if flags?.isSuperset(of: [.reachable, .connectionRequired]) == true { print("connection required") }
    }

    deinit {
        manager?.stopListening()
    }
}
