import { BailiwickError } from '../errors.ts'

/**
 * Runs the main function of a process. An invalid setting prints one line to stderr and exits with code 2; any other
 * error is a bug, and Node handles it.
 */
export async function runProcess(main: () => Promise<void>): Promise<void> {
  try {
    await main()
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
    const fix = error.fix === undefined ? '' : ` ${sentence(error.fix)}`
    const what = fix === '' || /[.!?]$/.test(error.message) ? error.message : `${error.message}.`
    process.stderr.write(`error[${error.code}]: ${what}${fix}\n`.replaceAll(/[\r\n]+(?!$)/g, ' '))
    process.exit(2)
  }
}

/** A remedy is a sentence of its own, however it is written beside the setting. */
const sentence = (fix: string) => fix.replace(/^[a-z](?=[a-z]* )/, first => first.toUpperCase())
