import NetworkReachability

/// Both styles in the Swift 5 language mode, in which closures are not marked as sendable.
final class SwiftFiveStyle {
    private var statuses: [NetworkReachabilityStatus] = []
    private let manager = NetworkReachabilityManager(host: "www.apple.com")

    func startInAlamofire4Style() {
        manager?.listener = { [weak self] status in self?.statuses.append(status) }
        manager?.startListening()
    }

    func startInAlamofire5Style() {
        manager?.startListening { [weak self] status in self?.statuses.append(status) }
    }
}
