const HUNK = /^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@/gm

/** Lines of the new file that GitHub shows in the diff of a file, and on which it lets one comment. */
export class ChangedLines {
  readonly #ranges: readonly (readonly [number, number])[]

  /** `patch`: the unified diff that GitHub gives with the file; absent where it is too large or not text. */
  constructor(patch: string | undefined) {
    this.#ranges = [...(patch ?? '').matchAll(HUNK)].map(([, start, count]) => {
      const first = Number(start)
      return [first, first + Number(count ?? 1) - 1] as const
    })
  }

  /** Whether all of these lines stand in one part of the diff. */
  covers(first: number, last: number): boolean {
    return this.#ranges.some(([from, to]) => from <= first && last <= to)
  }
}
