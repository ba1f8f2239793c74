/** A release file with its SHA-256 in hex. */
export interface ReleasedFile {
  readonly name: string
  readonly sha256: string
}

interface BuildFacts {
  /** Repository URL as in package.json, and the built commit. */
  readonly repository: string
  readonly revision: string
  /** ISO 8601. */
  readonly started: string
  readonly finished: string
  readonly lock: ReleasedFile
}

/** An in-toto statement with the SLSA provenance 1.0 of the files. The publisher signs it. */
export function provenance(files: readonly ReleasedFile[], { repository, revision, lock, ...times }: BuildFacts) {
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: files.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: `${repository}/blob/${revision}/build/release/index.ts`,
        externalParameters: { repository, revision },
        resolvedDependencies: [
          { uri: `git+${repository}@${revision}`, digest: { gitCommit: revision } },
          { uri: lock.name, digest: { sha256: lock.sha256 } },
        ],
      },
      runDetails: {
        builder: { id: `${repository}/blob/${revision}/build/release/index.ts` },
        metadata: { startedOn: times.started, finishedOn: times.finished },
      },
    },
  }
}
