// Code written for Alamofire 4's NetworkReachabilityManager: only the imports differ.
//
// The listener is called on the main queue. On Linux that queue runs under `dispatchMain()` or an asynchronous main.

import Dispatch
import Glibc
import NetworkReachability

let manager = NetworkReachabilityManager(host: "www.apple.com")

manager?.listener = { status in
    switch status {
    case .unknown: print("It is unknown whether the network is reachable")
    case .notReachable: print("The network is not reachable")
    case .reachable(.ethernetOrWiFi): print("The network is reachable over ethernet or Wi-Fi")
    case .reachable(.wwan): print("The network is reachable over WWAN")
    }
    fflush(nil)
}

manager?.startListening()

dispatchMain()
