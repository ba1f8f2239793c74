/** Anchors of the headings of a Markdown text, as GitHub makes them: without punctuation, numbered where one repeats. */
export function anchorsOf(markdown: string): Set<string> {
  const anchors = new Set<string>()
  const seen = new Map<string, number>()
  for (const heading of headingsOf(markdown)) {
    const slug = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
      .replaceAll(' ', '-')
    const times = seen.get(slug) ?? 0
    seen.set(slug, times + 1)
    anchors.add(times === 0 ? slug : `${slug}-${times}`)
  }
  return anchors
}

function headingsOf(markdown: string): string[] {
  const headings: string[] = []
  let fence = ''
  for (const line of markdown.split('\n')) {
    const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1] ?? ''
    if (fence === '') fence = mark
    else if (mark.startsWith(fence)) fence = ''
    const heading = fence === '' && mark === '' ? /^#{1,6} +(.+?)(?: +#+)? *$/.exec(line)?.[1] : undefined
    if (heading !== undefined) headings.push(heading)
  }
  return headings
}
