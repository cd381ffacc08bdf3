import Netlink

extension FakeNetwork {
    /// A way, or the entry behind one with all of its legs.
    struct Answer {
        let route: Route
        let legs: [NextHop]

        init(way: Route) {
            route = way
            legs = []
        }

        init(entry: Route, legs: [NextHop]) {
            var entry = entry
            entry.nextHop = legs.first
            entry.hasOtherLegs = legs.count > 1
            route = entry
            self.legs = legs
        }
    }
}
