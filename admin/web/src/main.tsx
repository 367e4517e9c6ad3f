import { render } from 'preact';
import './style.css';
import { App } from './app';
import { language } from './i18n';

document.documentElement.lang = language.value;
render(<App />, document.getElementById('app')!);
