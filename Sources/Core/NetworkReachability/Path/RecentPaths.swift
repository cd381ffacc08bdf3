/// The latest that paths had in common, so that those of ten thousand targets that leave the same way hold it together.
struct RecentPaths {
    private var recent: [SharedValue<NetworkPath.Common>] = []
    private static let limit = 8

    mutating func path(_ common: NetworkPath.Common, to destination: IPAddress?) -> NetworkPath {
        if let known = recent.first(where: { $0.value == common }) { return NetworkPath(known, to: destination) }
        if recent.count == Self.limit { recent.removeFirst() }
        let new = SharedValue(common)
        recent.append(new)
        return NetworkPath(new, to: destination)
    }
}
