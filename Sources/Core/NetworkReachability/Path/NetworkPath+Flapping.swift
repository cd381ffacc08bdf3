extension NetworkPath {
    /// So many changes of the status within ``flappingWindow`` are flapping: three losses with their returns. A
    /// replugged cable makes two, a switch that starts two or four.
    public static let flappingChanges = 6

    /// The time within which changes of the status count for ``isFlapping``, and without any after which it ends: one
    /// minute.
    public static let flappingWindow: Duration = .seconds(60)
}
