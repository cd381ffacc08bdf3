import NetworkReachability

print(NetworkReachabilityManager.default?.status ?? .unknown)
