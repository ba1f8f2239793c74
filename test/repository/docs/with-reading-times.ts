const WORDS_PER_MINUTE = 200

/**
 * The page with the minutes that its sections take to read, in the second column of its table of sections: all words, those of
 * commands and outputs too, at 200 a minute, rounded up to half a minute. The row `all` has the sums of the three columns of numbers.
 */
export function withReadingTimes(page: string): string {
  const sections = page.replaceAll(/<!--[\s\S]*?-->/g, '').split(/^## /m)
  const words = new Map(sections.map(text => [text.split('\n', 1)[0]!, text.split(/\s+/).filter(Boolean).length]))
  const sums = { minutes: 0, wall: 0, cpu: 0 }
  return page
    .replaceAll(ROW, (_, title: string, anchor: string, wall: string, cpu: string) => {
      const count = words.get(title)
      if (count === undefined) throw new Error(`the table names a section that is not there: ${title}`)
      const minutes = Math.ceil((count / WORDS_PER_MINUTE) * 2) / 2
      sums.minutes += minutes
      sums.wall += Number(wall)
      sums.cpu += Number(cpu)
      return `| [${title}](${anchor}) | ${minutes} min | ${wall} s | ${cpu} s |`
    })
    .replace(/^\| all \| .*$/m, () => `| all | ${sums.minutes} min | ${sums.wall} s | ${sums.cpu} s | |`)
}

/** A row of the table: section, minutes, seconds of the commands, of these on the CPU. */
const ROW = /^\| \[(.+?)\]\((#.+?)\) \| .*? \| (\d+) s \| (\d+) s \|/gm
