const WORDS_PER_MINUTE = 200

/**
 * The page with the minutes that its sections take to read, in the second column of its table of sections: all words, those of
 * commands and outputs too, at 200 a minute, rounded up to half a minute. The row `all` has the sums of both columns of numbers.
 */
export function withReadingTimes(page: string): string {
  const sections = page.replaceAll(/<!--[\s\S]*?-->/g, '').split(/^## /m)
  const words = new Map(sections.map(text => [text.split('\n', 1)[0]!, text.split(/\s+/).filter(Boolean).length]))
  let minutes = 0
  let seconds = 0
  return page
    .replaceAll(
      /^\| \[(.+?)\]\(#.+?\) \| (.*?) \| (.*?) \|/gm,
      (row, title: string, reading: string, commands: string) => {
        const count = words.get(title)
        if (count === undefined) throw new Error(`the table names a section that is not there: ${title}`)
        const own = Math.ceil((count / WORDS_PER_MINUTE) * 2) / 2
        minutes += own
        seconds += Number.parseFloat(commands)
        return row.replace(`| ${reading} |`, `| ${own} min |`)
      },
    )
    .replace(/^\| all \| .*? \| .*? \|/m, () => `| all | ${minutes} min | ${seconds} s |`)
}
