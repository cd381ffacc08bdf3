import Glibc
import NetworkReachability

/// The Alamofire 4 style: the listener is a property, and the types are nested in the manager.
func listenInAlamofire4Style() {
    let manager = NetworkReachabilityManager(host: "www.apple.com")
    manager?.listener = { status in
        switch status {
        case .unknown: print("unknown")
        case .notReachable: print("not reachable")
        case .reachable(.ethernetOrWiFi): print("reachable over ethernet or Wi-Fi")
        case .reachable(.wwan): print("reachable over WWAN")
        }
    }
    manager?.startListening()
    let isListening: Bool? = manager?.startListening()
    _ = isListening

    let status: NetworkReachabilityManager.NetworkReachabilityStatus? = manager?.networkReachabilityStatus
    let type: NetworkReachabilityManager.ConnectionType = .ethernetOrWiFi
    if status == .reachable(type), manager?.isReachableOnEthernetOrWiFi == true { print("ethernet or Wi-Fi") }
    if manager?.isReachable == true, manager?.isReachableOnWWAN == false { print("not cellular") }
    manager?.listenerQueue = .main
    manager?.stopListening()
    manager?.listener = nil

    var zero = sockaddr_in()
    zero.sin_family = sa_family_t(AF_INET)
    if let byAddress = NetworkReachabilityManager(address: zero) { print(byAddress.isReachable) }
}
