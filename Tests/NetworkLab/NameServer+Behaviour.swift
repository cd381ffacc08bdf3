extension NameServer {
    /// What a name server does with a question.
    package struct Behaviour: Equatable, Sendable {
        /// What it says, where it answers.
        package enum Answer: Equatable, Sendable {
            /// What its zone has.
            case zone
            /// A response code without records, for example 2 for SERVFAIL (RFC 1035, section 4.1.1).
            case code(UInt8)
            /// No name exists, and a filter says so: 15 to 18 (EDE, RFC 8914).
            case blocked(UInt16)
            /// What cannot be read: a record that ends before its data does.
            case malformed
            /// Of another number than the question's.
            case wrongIdentifier
            /// To another name than was asked for.
            case wrongQuestion
            /// What its zone has, and these addresses for each name that it does not have.
            case invented([String])
            /// These addresses for all names, as the server of a captive portal.
            case portal([String])
        }

        /// What becomes of those that want to talk.
        package enum Port: Equatable, Sendable {
            case open
            /// It takes everything, and answers nothing.
            case silent
            /// Nobody is there: the kernel says so.
            case closed
        }

        package var answer: Answer
        package var datagrams = Port.open
        package var streams = Port.open
        /// Over UDP it says that the answer is too long (TC), and gives none.
        package var isTruncated = false
        /// How long it takes for each answer.
        package var delay = Duration.zero
        /// It does not understand questions with EDNS (FORMERR).
        package var dislikesExtensions = false
        /// It asks nobody else, and says so (no RA).
        package var isAlone = false
        /// What comes before each answer over UDP, as from a stranger who guesses.
        package var preface: [[UInt8]] = []
        /// Questions for IPv6 addresses are not answered.
        package var isDeafToIPv6 = false

        package init(_ answer: Answer = .zone) {
            self.answer = answer
        }

        private func changed(_ change: (inout Behaviour) -> Void) -> Behaviour {
            var other = self
            change(&other)
            return other
        }
    }
}

/// What is wrong with name servers in the world.
extension NameServer.Behaviour {
    package static let well = NameServer.Behaviour()
    package static let serverFailure = NameServer.Behaviour(.code(2))
    package static let notImplemented = NameServer.Behaviour(.code(4))
    package static let refused = NameServer.Behaviour(.code(5))
    package static let malformed = NameServer.Behaviour(.malformed)
    package static let wrongIdentifier = NameServer.Behaviour(.wrongIdentifier)
    package static let wrongQuestion = NameServer.Behaviour(.wrongQuestion)
    package static let silent = well.changed { ($0.datagrams, $0.streams) = (.silent, .silent) }
    package static let closed = well.changed { ($0.datagrams, $0.streams) = (.closed, .closed) }
    /// UDP is silent, TCP answers.
    package static let streamsAlone = well.changed { $0.datagrams = .silent }
    package static let old = well.changed { $0.dislikesExtensions = true }
    package static let deafToIPv6 = well.changed { $0.isDeafToIPv6 = true }

    /// It knows no name at all.
    package static let ignorant = NameServer.Behaviour(.code(3))
    /// It has no records, and asks nobody for any.
    package static let alone = NameServer.Behaviour(.code(0)).changed { $0.isAlone = true }

    /// The same as `well`, behind a few bytes that anybody may have sent.
    package static func preceded(by datagrams: [UInt8]...) -> NameServer.Behaviour {
        well.changed { $0.preface = datagrams }
    }

    package static func truncated(streams: Port) -> NameServer.Behaviour {
        well.changed { ($0.isTruncated, $0.streams) = (true, streams) }
    }

    package static func slow(_ delay: Duration) -> NameServer.Behaviour { well.changed { $0.delay = delay } }

    package static func invents(_ addresses: String...) -> NameServer.Behaviour { .init(.invented(addresses)) }

    package static func portal(_ addresses: String...) -> NameServer.Behaviour { .init(.portal(addresses)) }

    /// - Parameter reason: 15 to 18.
    package static func blocked(_ reason: UInt16) -> NameServer.Behaviour { .init(.blocked(reason)) }
}
