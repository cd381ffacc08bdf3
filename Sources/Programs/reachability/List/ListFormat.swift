import ArgumentParser

/// What `list` prints.
enum ListFormat: EnumerableFlag {
    case table
    case json

    static func name(for value: ListFormat) -> NameSpecification {
        switch value {
        case .table: [.long, .customLong("no-json")]
        case .json: .long
        }
    }
}
