// What AFNetworking calls otherwise.

extension NetworkReachabilityManager {
    /// The status now as a short text for people, by its AFNetworking name.
    public var localizedNetworkReachabilityStatusString: String { status.localizedDescription }
}

extension NetworkReachabilityStatus {
    /// A short text for people, in AFNetworking's words.
    public var localizedDescription: String {
        switch self {
        case .unknown: "Unknown"
        case .notReachable: "Not Reachable"
        case .reachable(.ethernetOrWiFi): "Reachable via Ethernet or Wi-Fi"
        case .reachable(.wwan): "Reachable via WWAN"
        }
    }
}
