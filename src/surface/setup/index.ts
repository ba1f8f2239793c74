import { runProcess } from '../../process/run-process.ts'
import { readGiven } from '../cli/given.ts'
import { helpText } from '../cli/usage.ts'
import { removeApp } from './remove-app.ts'
import { runSetup, SETUP } from './run-setup.ts'

const [args, say] = [process.argv.slice(2), (line: string) => process.stdout.write(`${line}\n`)]

if (args.includes('--help') || args.includes('-h'))
  say(`usage: npm run ${helpText(SETUP).replace('setup', 'setup --')}`)
else
  await runProcess(async () => {
    const { has, one, wrong } = readGiven(SETUP, args)
    if (has('yes') && !has('remove')) throw wrong('--yes is for --remove')
    if (has('remove')) {
      const left = await removeApp(one('env') ?? '.env', has('yes'), { env: process.env, say })
      if (left > 0 && !has('yes')) say('Nothing was changed. Add --yes to remove all of this and to uninstall the App.')
      process.exitCode = left > 0 ? 1 : 0
      return
    }
    const site = await runSetup(args, { env: process.env, say })
    try {
      await site.done
    } finally {
      await site.close()
    }
  })
