/// So many hosts that their lines do not fit into a pipe.
enum ManyHosts {
    static let all = (1...250).flatMap { ["127.0.0.\($0)", "127.0.1.\($0)"] }
}
